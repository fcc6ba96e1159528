"""Views of one embedding: circle, sphere and map, what was lassoed, and whether the points are uniform."""
