"""Creates tables in its own metastore, describes them, and creates them again from the statements
of FOLDER/ddl.json: `tables.py FOLDER IVY [REPOSITORY]`. Writes FOLDER/kept.json, waits for a line, reads FOLDER/ddl.json and
writes FOLDER/made.json."""

import json
import os
import sys

from pyspark.sql import SparkSession

folder, ivy, *repository = sys.argv[1:]
DEEP = "struct<a:int,`b c`:array<map<string,struct<x:decimal(10,2),`y``z`:timestamp>>>>"
COMMENT = r"""'it\'s "x" \\ `y`; -- ü\n/* 名 \u0024{env:HOME} 100%'"""
WIDE = ",".join(f"`col {at}` struct<a:int,b:string> comment 'c{at}'" for at in range(100))

builder = SparkSession.builder.master("local[1]")
settings = {
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
    "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:tables;create=true",
    "spark.hadoop.iceberg.engine.hive.lock-enabled": "false",
    "spark.jars.ivy": ivy,
    "spark.jars.packages": "io.delta:delta-spark_2.12:3.3.2,org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1",
    "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ice.type": "hive",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.warehouse.dir": f"{folder}/warehouse",
    "spark.ui.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
if repository:
    settings["spark.jars.repositories"] = repository[0]
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.enableHiveSupport().getOrCreate()
spark.sparkContext.setLogLevel("ERROR")

TABLES = {
    "hive_parquet": f"""create table NAME (a int not null comment {COMMENT}, B string, d struct<x:int,Y:array<map<string,
        decimal(10,2)>>>, v varchar(5), ch char(3)) comment {COMMENT} partitioned by (p date comment 'pc', Q int)
        stored as parquet tblproperties('k; --'='`', 'K'={COMMENT})""",
    "hive_text": f"""create table NAME (a int, s struct<A:int>) row format delimited fields terminated by '|'
        lines terminated by '\\n' stored as textfile location '{folder}/te xt'""",
    "hive_bucketed": "create table NAME (a int, B string) clustered by (a) sorted by (B, a) into 4 buckets stored as orc",
    "hive_serde": """create table NAME (a string, b string) row format serde 'org.apache.hadoop.hive.serde2.OpenCSVSerde'
        with serdeproperties('separatorChar'='\\t', 'quoteChar'='\\'', 'escapeChar'='\\\\') stored as textfile""",
    "spark_parquet": f"""create table NAME (a int comment {COMMENT}, `b``k` varchar(5), `ü 名` {DEEP}, d int default 5,
        e string default 'it\\'s', p string, q int) using parquet options('compression'='gzip') partitioned by (p, q)
        clustered by (a) sorted by (`b``k`) into 2 buckets comment {COMMENT} tblproperties('k'='v')""",
    "spark_json": f"""create table NAME (`a b` int, n struct<x:int comment {COMMENT}>) using json
        options(multiLine true, 'lineSep'='\\\\') location '{folder}/json'""",
    "spark_wide": f"create table NAME ({WIDE}) using parquet",
    "view_plain": f"""create view NAME (x comment {COMMENT}, `y z`) comment {COMMENT} tblproperties('k'='v')
        as select a, concat(B, ';', r'\\') as c -- the ; end
        from hive_bucketed""",
    "delta_plain": f"""create table NAME (a int not null comment {COMMENT}, d struct<x:array<map<
        string,struct<Y:int comment 'n'>>>>, v varchar(5), p string) using delta
        partitioned by (p) comment {COMMENT} tblproperties('k'='v', 'delta.appendOnly'='true')""",
    "delta_mapped": f"""create table NAME (`a b` int, s struct<`x,y`:int not null>, d {DEEP}) using delta
        tblproperties('delta.columnMapping.mode'='name')""",
    "delta_external": f"create table NAME (a int, b string) using delta location '{folder}/delta' tblproperties('my'='x')",
    "delta_checkpoint": "create table NAME (a int not null, p date) using delta partitioned by (p) tblproperties('k'='v')",
    "delta_checkpoint2": "create table NAME (a int comment 'c') using delta tblproperties('delta.checkpointPolicy'='v2')",
    "ice_plain": f"""create table ice.default.NAME (a int not null comment {COMMENT}, s struct<x:int not null comment 'n',
        y:timestamp_ntz, z:array<map<string,struct<q:decimal(10,2)>>>>, t timestamp, `b``k` string, g bigint) using iceberg
        partitioned by (bucket(4, a), truncate(3, `b``k`), days(t), g, s.x, years(s.y)) comment {COMMENT}
        tblproperties('k'='v')""",
    "ice_gzip": """create table ice.default.NAME (a int, b timestamp) using iceberg partitioned by (hours(b))
        tblproperties('format-version'='1', 'write.metadata.compression-codec'='gzip')""",
}


def full_name(name):
    return f"ice.default.{name}" if name.startswith("ice_") else name


def description(name):
    """Returns Spark's description of the table without times and versions."""
    rows = spark.sql(f"describe table extended {full_name(name)}").collect()
    passing = ("Created Time", "Last Access", "Statistics", "Created By", "View Query Output Columns")
    told = [[row[0], row[1], row[2]] for row in rows if row[0] not in passing]
    for row in told:
        if row[0] == "Table Properties":
            row[1] = sorted(
                text
                for text in map(str.strip, row[1].strip("[]").split(","))
                if not text.startswith(("transient_lastDdlTime", "current-snapshot-id", "delta.lastUpdate"))
            )
    return {"schema": json.loads(spark.table(full_name(name)).schema.json()), "told": told}


def hide_commits(name, row):
    """Leaves the columns only in the checkpoint, as when old commits have been removed."""
    spark.sql(f"insert into {name} values ({row})")
    log = spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, f"{folder}/warehouse/{name}")
    none = spark._jvm.scala.Option.empty()
    log.checkpoint(log.update(False, none, none), none)
    spark.sql(f"insert into {name} values ({row})")
    os.remove(f"{folder}/warehouse/{name}/_delta_log/{0:020}.json")
    if name.endswith("2"):
        os.remove(f"{folder}/warehouse/{name}/_delta_log/_last_checkpoint")


def kept():
    client = spark._jsparkSession.sharedState().externalCatalog().unwrapped().client()
    protocol = spark._jvm.org.apache.thrift.protocol.TSimpleJSONProtocol.Factory()
    writer = spark._jvm.org.apache.thrift.TSerializer(protocol)
    return {name: json.loads(writer.toString(client.getRawHiveTable("default", name).rawTable().getTTable())) for name in TABLES}


def write(name, value):
    with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
        json.dump(value, file)


def make_anew(name, statement):
    before = description(name)
    try:
        spark.sql(f"drop {'view' if name.startswith('view') else 'table'} {full_name(name)}")
        spark.catalog.setCurrentCatalog("ice" if name.startswith("ice_") else "spark_catalog")
        spark.sql(statement)
        spark.catalog.setCurrentCatalog("spark_catalog")
        return {"before": before, "after": description(name)}
    except Exception as error:
        spark.catalog.setCurrentCatalog("spark_catalog")
        return {"before": before, "error": str(error)[:2000]}


for name, statement in TABLES.items():
    spark.sql(statement.replace("NAME", name))
hide_commits("delta_checkpoint", "1, date'2026-01-01'")
hide_commits("delta_checkpoint2", "1")
write("kept.json", kept())
print("kept", flush=True)
sys.stdin.readline()
with open(f"{folder}/ddl.json", encoding="utf-8") as file:
    statements = json.load(file)
write("made.json", {name: make_anew(name, statement) for name, statement in statements.items()})
