from managed_spark import Client, RunFailed

FOLDER = "examples/02-why-did-it-fail"
cluster = "demo-spark-3.5.9"
workspace = Client().workspace("demo")


def average():
    return workspace.run(f"{FOLDER}/average.py", name="example-average", cluster=cluster)


def missing():
    workspace.jobs.define("example-missing", "Python3", cluster, command="nope.py")
    return workspace.jobs.submit("example-missing")


def orders():
    return workspace.run(f"{FOLDER}/orders.sql", name="example-orders", cluster=cluster)


for submit in (average, missing, orders):
    run = submit()
    try:
        run.result()
    except RunFailed as failure:
        print(f"{failure.code}: {failure.reason}")
        print(failure.remedy)
        if failure.code == "PYTHON_ERROR":
            errors = [line for line in run.log("stderr").splitlines() if "Error: " in line]
            print(errors[-1])
