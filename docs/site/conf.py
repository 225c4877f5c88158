"""Sphinx's configuration of the site; build.py stages its sources and runs it."""

project = "Pteron"
author = "Pteron's authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Pteron"
html_show_copyright = False
html_copy_source = False
exclude_patterns: list[str] = []
autodoc_typehints = "none"
"""Signatures have them."""
