import { SQLDialect, StandardSQL } from '@codemirror/lang-sql';

const KEYWORDS =
  'add after alter always analyze anti any archive array as at authorization between both bucket buckets by cache cascade case cast catalog catalogs change check clear cluster clustered codegen collate collection column columns comment commit compact compactions compute concatenate constraint cost create cross cube current current_date current_time current_timestamp current_user database databases datediff dateadd day days dbproperties declare default defined delete delimited desc describe dfs directories directory distinct distribute div drop else end escape escaped except exchange exclude execute exists explain export extended external extract fetch fields fileformat filter first following for foreign format formatted from full function functions generated global grant group grouping having hour hours identifier if ignore immediate import in include index indexes inner inpath inputformat insert intersect interval into is items join keys language last lateral lazy leading left like ilike limit lines list load local location lock locks logical macro map matched merge minus month months msck namespace namespaces natural no not null nulls of offset on only option options or order out outer outputformat over overlaps overlay overwrite partition partitioned partitions percent percentile_cont percentile_disc pivot placing position preceding primary principals properties purge qualify query quarter range recordreader recordwriter recover reduce references refresh rename repair repeatable replace reset respect restrict revoke right rlike role roles rollback rollup row rows schema schemas second seconds select semi separated serde serdeproperties session_user set sets show skewed some sort sorted source start statistics stored stratify struct substr substring sync system_time system_version table tables tablesample target tblproperties temporary terminated then time timediff timestampadd timestampdiff to touch trailing transaction transactions transform trim true truncate try_cast type unarchive unbounded uncache union unique unknown unlock unpivot unset update use user using values version view views void week weeks when where window with within year years zone';

const TYPES =
  'array bigint binary boolean byte char date decimal dec double float int integer interval long map numeric real short smallint string struct timestamp timestamp_ltz timestamp_ntz tinyint varchar variant void';

/** The words and quotes of Spark SQL. */
export const SPARK = SQLDialect.define({
  ...StandardSQL.spec,
  keywords: KEYWORDS,
  types: TYPES,
  backslashEscapes: true,
  doubleQuotedStrings: true,
  identifierQuotes: '`',
  hashComments: false,
  operatorChars: '+-*/%=<>!&|^~:?',
});
