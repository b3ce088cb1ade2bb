"""The generator as a graph of fixed shapes, as accelerators want it."""
