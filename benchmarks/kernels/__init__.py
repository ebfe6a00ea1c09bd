"""How many instructions the kernels take, by shape."""
