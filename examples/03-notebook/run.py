import json

from managed_spark import Client

workspace = Client().workspace("demo")
name = workspace.define_notebook("examples/03-notebook/sevens.ipynb", cluster="demo-spark-3.5.9")

# The end of the block stops the kernel, which holds a slot of the cluster.
with workspace.notebooks.start(name) as notebook:
    notebook.wait_until_running()
    for cell in notebook.run_cells():
        print(cell.text.strip() or cell.value)

cells = json.loads(workspace.notebooks.export(name))["cells"]
print("Stored output:", cells[-1]["outputs"][0]["data"]["text/plain"])
