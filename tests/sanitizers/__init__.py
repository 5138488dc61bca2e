"""Every family of CUDA kernels under NVIDIA's compute-sanitizer."""
