"""The export: from a PyTorch model to ExecuTorch programs for Cortex-M, with oracles and a report.

    prepare    a checked model, its inputs channels last, its samples
    lowering   quantize and calibrate once, lower once a CMSIS-NN backend, emit once a cpu
    oracle     expected outputs: the lowered graph in Python, the original model in torch
    calibration, report   what the user should know
    programs   all of it: the files of a program

Imports torch and executorch, so it runs in a process of its own (`bench.export_job`).
"""
