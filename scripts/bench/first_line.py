# Prints the current time, then stays for two seconds.
import time

print("%.6f" % time.time(), flush=True)
time.sleep(2)
