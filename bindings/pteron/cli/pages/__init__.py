"""Pages: one HTML file each, which loads nothing else, from one template."""
