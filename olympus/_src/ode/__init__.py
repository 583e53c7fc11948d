"""Ordinary differential equations: adaptive Runge-Kutta steps, and their gradient."""
