package bench

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.functions.{col, sum}

/** The job of the measurements beside peers, in a jar: the same as small_job.py. */
object SmallJob {
  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder.appName("peers").getOrCreate()
    val rows = spark.range(100000).groupBy((col("id") % 7).as("k")).agg(sum("id").as("s")).collect()
    println("RESULT " + rows.map(row => row.getLong(0) * row.getLong(1)).sum)
    spark.stop()
  }
}
