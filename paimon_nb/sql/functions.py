"""The functions that editors offer, each with its signature and one line of documentation.

Spark has more functions; `SHOW FUNCTIONS` lists all. These are the ones that queries use most.
"""

from __future__ import annotations

from paimon_nb.base.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Function:
    """A function of SQL."""

    name: str
    signature: str
    """`date_trunc(unit, ts)`; parts in square brackets are optional."""
    doc: str


_DOCS = """
abs(x): the absolute value
any_value(x): some value of the group
approx_count_distinct(x [, error]): the number of distinct values, with an error of 5 %
array(x, ...): an array of the values
array_agg(x): the values of the group as an array, duplicates included
array_contains(array, x): whether the array has the value
array_distinct(array): the array without duplicates
array_join(array, separator [, of_null]): the elements as one text
array_size(array): the number of elements
avg(x): the mean of the group
cardinality(collection): the number of elements of an array or a map
cast(x AS type): the value as another type; an invalid value is an error
ceil(x [, scale]): the smallest number that is not below x
coalesce(x, ...): the first value that is not NULL
collect_list(x): the values of the group as an array, duplicates included
collect_set(x): the distinct values of the group as an array
concat(x, ...): texts, binary values or arrays, one after the other
concat_ws(separator, x, ...): texts with a separator; NULL is skipped
corr(x, y): the Pearson correlation of the group
count(* | x): the number of rows, or of values that are not NULL
count_if(condition): the number of rows for which the condition is true
current_date(): the date when the query starts
current_timestamp(): the time when the query starts
date_add(date, days): the date some days later
date_diff(end, start): the number of days between two dates
date_format(ts, pattern): the time as a text, such as 'yyyy-MM-dd'
date_sub(date, days): the date some days earlier
date_trunc(unit, ts): the start of the unit, such as 'MONTH', 'DAY' or 'HOUR'
day(date): the day of the month
dayofweek(date): 1 for Sunday to 7 for Saturday
dense_rank(): the rank in the window, without gaps
element_at(collection, key): the element at a position from 1, or of a key
exists(array, x -> condition): whether the condition is true for an element
exp(x): e to the power of x
explode(collection): one row for each element
extract(unit FROM ts): a part of a time, such as YEAR, MONTH or HOUR
filter(array, x -> condition): the elements for which the condition is true
first_value(x [, ignore_nulls]): the first value of the group or window
flatten(array): an array of arrays as one array
floor(x [, scale]): the largest number that is not above x
from_json(text, schema): a text of JSON as a struct, map or array
from_unixtime(seconds [, pattern]): seconds since 1970 as a text in the session's time zone
get_json_object(text, path): a value in a text of JSON, such as '$.a.b'
greatest(x, ...): the largest value; NULL is skipped
hour(ts): the hour, 0 to 23
if(condition, x, y): x if the condition is true, else y
ifnull(x, y): x, or y if x is NULL
initcap(text): each word with a capital first letter
instr(text, part): the position of the first occurrence from 1; 0 if there is none
lag(x [, offset [, default]]): the value of an earlier row of the window
last_day(date): the last day of the month
last_value(x [, ignore_nulls]): the last value of the group or window
lead(x [, offset [, default]]): the value of a later row of the window
least(x, ...): the smallest value; NULL is skipped
left(text, length): the first characters
length(text): the number of characters, or of bytes of a binary value
ln(x): the natural logarithm
log([base,] x): the logarithm, natural without a base
lower(text): the text in lower case
lpad(text, length [, pad]): the text, padded on the left
ltrim(text): the text without blanks at its start
make_date(year, month, day): a date from its parts
map(key, value, ...): a map of keys and values
map_entries(map): an array of the entries
map_from_arrays(keys, values): a map from two arrays
map_keys(map): an array of the keys
map_values(map): an array of the values
max(x): the largest value of the group
max_by(x, y): the x of the row with the largest y
md5(x): the MD5 checksum as a hexadecimal text
median(x): the median of the group
min(x): the smallest value of the group
min_by(x, y): the x of the row with the smallest y
minute(ts): the minute, 0 to 59
mod(x, y): the remainder, with the sign of x
month(date): the month, 1 to 12
months_between(end, start [, round_off]): the number of months between two times
named_struct(name, value, ...): a struct with named fields
now(): the time when the query starts
nullif(x, y): NULL if x equals y, else x
nvl(x, y): x, or y if x is NULL
percentile(x, share): the exact percentile of the group; share is 0 to 1
percentile_approx(x, share [, accuracy]): the approximate percentile of the group
pmod(x, y): the remainder, never negative for a positive y
posexplode(collection): one row for each element, with its position from 0
pow(x, y): x to the power of y
rand([seed]): a random number from 0 to 1
rank(): the rank in the window, with gaps
regexp_count(text, pattern): the number of matches
regexp_extract(text, pattern [, group]): the first match of a group; group 1 by default
regexp_like(text, pattern): whether the pattern matches a part of the text
regexp_replace(text, pattern, by): the text with each match replaced
repeat(text, count): the text, repeated
replace(text, part [, by]): the text with each occurrence replaced
reverse(x): a text or an array in reverse order
right(text, length): the last characters
round(x [, scale]): the rounded number; half is rounded away from zero
row_number(): the number of the row in the window, from 1
rpad(text, length [, pad]): the text, padded on the right
rtrim(text): the text without blanks at its end
second(ts): the second, 0 to 59
sequence(start, stop [, step]): an array of the values from start to stop
sha2(x, bits): the SHA-2 checksum as a hexadecimal text; bits is 224, 256, 384 or 512
sign(x): -1, 0 or 1
size(collection): the number of elements of an array or a map
slice(array, start, length): a part of the array; positions start from 1
sort_array(array [, ascending]): the sorted array
split(text, pattern [, limit]): an array of the parts between matches
split_part(text, separator, part): one part of the text, counted from 1
sqrt(x): the square root
starts_with(text, start): whether the text starts with another one
stddev(x): the sample standard deviation of the group
string_agg(x [, separator]): the texts of the group as one text
struct(x, ...): a struct of the values
substring(text, position [, length]): a part of the text; positions start from 1
sum(x): the sum of the group
to_date(text [, pattern]): a text as a date
to_json(x [, options]): a struct, map or array as a text of JSON
to_timestamp(text [, pattern]): a text as a time
transform(array, x -> y): the array of the results for each element
trim([BOTH | LEADING | TRAILING] [characters FROM] text): the text without blanks at its ends
try_cast(x AS type): the value as another type; NULL for an invalid value
try_divide(x, y): x / y; NULL for a zero y
try_to_timestamp(text [, pattern]): a text as a time; NULL for an invalid text
typeof(x): the name of the value's type
unix_timestamp([ts [, pattern]]): seconds since 1970
upper(text): the text in upper case
uuid(): a random UUID as a text
var_pop(x): the population variance of the group
variance(x): the sample variance of the group
weekofyear(date): the ISO week of the year
year(date): the year
"""


def _read(line: str) -> Function:
    signature, _, doc = line.partition("): ")
    return Function(signature.partition("(")[0], signature + ")", doc)


FUNCTIONS = {f.name: f for f in map(_read, _DOCS.strip().splitlines())}
"""By name, in lower case."""
