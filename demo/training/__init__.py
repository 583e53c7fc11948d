"""One small transformer, trained in four ways on a mesh of devices."""
