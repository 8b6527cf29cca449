def sevens(request):
    """Counts the numbers up to a limit that 7 divides; `spark` is the session of the job."""
    return {"count": spark.range(1, request["limit"] + 1).where("id % 7 = 0").count()}  # noqa: F821
