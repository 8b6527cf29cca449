create or replace temporary view orders as select id, id * 10 as amount from range(3);
select sum(price) from orders;
