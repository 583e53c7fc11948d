"""Attention kernels for TPUs, written in Pallas: none is there."""
