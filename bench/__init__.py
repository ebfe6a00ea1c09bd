"""A benchmarking lab for PyTorch models on Arm Cortex-M microcontrollers."""
