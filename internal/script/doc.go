// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package script reads the SQL scripts of table pipelines: CREATE TABLE … WITH,
// and INSERT INTO … SELECT … FROM … [WHERE …], as Flink SQL writes them.
//
// The text is cut into statements and parsed with a grammar
// (github.com/alecthomas/participle). Types are checked when the script is read:
// [Parse] reports faults with line and column, all of those that can be seen: names
// and types mean nothing where statements or tables are wrong. An
// expression becomes a program of an expression engine
// (github.com/expr-lang/expr), whose functions know the types of SQL and that
// NULL is neither true nor false; what is evaluated lazily in SQL, such as the
// branches of a CASE, is control flow of the engine.
//
// What expressions may hold: columns, also as table.column and in back quotes;
// literals, also DATE, TIME and TIMESTAMP ones; + - * / % ||; = <> != < <= > >=;
// AND, OR, NOT; IS [NOT] NULL, TRUE, FALSE, UNKNOWN; [NOT] LIKE … [ESCAPE];
// [NOT] IN a list; [NOT] BETWEEN [SYMMETRIC]; both forms of CASE; CAST and
// TRY_CAST; array[position] and map[key]; UPPER, LOWER, CHAR_LENGTH, SUBSTRING,
// TRIM, LTRIM, RTRIM, REPLACE, CONCAT, COALESCE, IFNULL, NULLIF, ABS, MOD. All
// else, such as joins, groups and windows, is refused with its place and with
// what to use instead.
//
// Whole numbers that overflow and divisions by zero are errors of the row. Whole
// numbers divided by whole numbers stay whole.
package script
