"""Occupies a slot for ten minutes and does nothing with it."""

import time

print("begun", flush=True)
time.sleep(600)
