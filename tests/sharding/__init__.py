"""Meshes, shardings and programs over several devices.

Tests marked `eight_devices` run where OLYMPUS_NUM_CPU_DEVICES=8 is set before the
start, as `tools/test` does.
"""
