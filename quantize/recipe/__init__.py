"""What is to be done to which layer, before any number is read: recipe -> plan, and which layers and units of a Graph there are."""
