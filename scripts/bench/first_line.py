# Says when it said so, and stays for a while.
import time

print("%.6f" % time.time(), flush=True)
time.sleep(2)
