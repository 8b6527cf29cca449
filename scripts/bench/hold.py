"""Has a slot for as long as it is let, and does nothing with it."""

import time

print("begun", flush=True)
time.sleep(600)
