"""What a program needs beside its .pte, against upstream's own runtime."""
