const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Words that are reserved by standard SQL, and by Spark if a session says so. */
const RESERVED = new Set(
  `all and anti any as authorization both case cast check collate column constraint create cross current_date current_time
  current_timestamp current_user distinct else end escape except exists false fetch filter for foreign from full grant group
  having in inner intersect interval into is join lateral leading left minus natural not null offset on only or order outer
  overlaps primary references right select semi session_user set some sql table then time to trailing true union unique
  unknown user using values when where window with within`.split(/\s+/),
);

/** True for a name that SQL takes without quotes. */
export function isPlainName(name: string): boolean {
  return PLAIN_NAME.test(name) && !RESERVED.has(name.toLowerCase());
}

export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}
