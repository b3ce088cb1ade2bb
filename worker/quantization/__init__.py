"""The published int8 model as floats, and the texts and stages that models are compared with."""
