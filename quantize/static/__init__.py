"""Static int8: Q/DQ around units of a Graph, and weights that make up for what earlier layers lost."""
