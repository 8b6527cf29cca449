-- The job of the measurements beside peers, in SQL: the same as small_job.py.
CREATE TEMPORARY VIEW sums AS SELECT id % 7 AS k, sum(id) AS s FROM range(100000) GROUP BY id % 7;
SELECT concat('RESULT ', sum(k * s)) FROM sums;
