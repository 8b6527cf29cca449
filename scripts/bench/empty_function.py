"""A function that does nothing. The platform serves it; started as a program, it calls itself in its own process."""

import json
import sys
import time


def serve(request):
    return request


def main():
    """Calls the function with the platform's conversion of input and output and prints the median in milliseconds."""
    times = []
    for _ in range(int(sys.argv[1])):
        began = time.perf_counter()
        json.dumps(serve(json.loads(b"{}")), allow_nan=False, ensure_ascii=False).encode("utf-8")
        times.append((time.perf_counter() - began) * 1_000)
    print(json.dumps(sorted(times)[len(times) // 2]))


if __name__ == "__main__":
    main()
