"""The zoo: one file a model, each with a `build()` that returns a `bench.model.ModelDefinition`."""
