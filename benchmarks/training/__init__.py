"""Programs that make what the product ships: the predictor of statistics, the tagger, forms of the model."""
