def hide(e): pass
