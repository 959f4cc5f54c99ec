// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package script

import "github.com/alecthomas/participle/v2/lexer"

// The grammar: each struct is a rule, the tags say how it is written.

type statement struct {
	Create *createTable `parser:"@@"`
	Insert *insertInto  `parser:"| @@"`
}

type name struct {
	Pos  lexer.Position
	Text string `parser:"@(Ident | Quoted)"`
}

type createTable struct {
	Pos         lexer.Position
	Temporary   bool         `parser:"'CREATE' @'TEMPORARY'? 'TABLE'"`
	IfNotExists bool         `parser:"@('IF' 'NOT' 'EXISTS')?"`
	Name        name         `parser:"@@"`
	Columns     []*columnDef `parser:"'(' @@ (',' @@)* ')'"`
	Comment     *string      `parser:"('COMMENT' @String)?"`
	With        []*option    `parser:"'WITH' '(' @@ (',' @@)* ')'"`
}

type option struct {
	Pos   lexer.Position
	Key   string `parser:"@String '='"`
	Value string `parser:"@String"`
}

type columnDef struct {
	Pos      lexer.Position
	Name     name         `parser:"@@"`
	Type     typeSpec     `parser:"@@"`
	Metadata *metadataDef `parser:"@@?"`
	Comment  *string      `parser:"('COMMENT' @String)?"`
}

type metadataDef struct {
	From    *string `parser:"'METADATA' ('FROM' @String)?"`
	Virtual bool    `parser:"@'VIRTUAL'?"`
}

type typeSpec struct {
	Pos      lexer.Position
	Name     string      `parser:"@(Ident | 'INTERVAL')"`
	More     string      `parser:"@'PRECISION'?"`
	Args     []string    `parser:"('(' @Number (',' @Number)* ')')?"`
	Elements []*typeSpec `parser:"('<' @@ (',' @@)* '>')?"`
	Zone     []string    `parser:"((@'WITH' @'LOCAL'? | @'WITHOUT') @'TIME' @'ZONE')?"`
	NotNull  bool        `parser:"(@('NOT' 'NULL') | 'NULL')?"`
}

type insertInto struct {
	Pos     lexer.Position
	Into    name       `parser:"'INSERT' 'INTO' @@"`
	Columns []*name    `parser:"('(' @@ (',' @@)* ')')?"`
	Select  selectFrom `parser:"@@"`
}

type selectFrom struct {
	Pos   lexer.Position
	Items []*selectItem `parser:"'SELECT' @@ (',' @@)*"`
	From  name          `parser:"'FROM' @@"`
	Alias *name         `parser:"('AS'? @@)?"`
	Where *orExpr       `parser:"('WHERE' @@)?"`
}

type selectItem struct {
	Pos   lexer.Position
	Star  *starItem `parser:"( @@"`
	Expr  *orExpr   `parser:"| @@ )"`
	Alias *name     `parser:"('AS'? @@)?"`
}

type starItem struct {
	Table *name `parser:"(@@ '.')?"`
	Star  bool  `parser:"@'*'"`
}

type orExpr struct {
	Terms []*andExpr `parser:"@@ ('OR' @@)*"`
}

type andExpr struct {
	Terms []*notExpr `parser:"@@ ('AND' @@)*"`
}

type notExpr struct {
	Pos lexer.Position
	Not []string   `parser:"@'NOT'*"`
	Of  *predicate `parser:"@@"`
}

type predicate struct {
	Left *sumExpr `parser:"@@"`
	Test *test    `parser:"@@?"`
}

type test struct {
	Pos     lexer.Position
	Compare *comparison  `parser:"( @@"`
	Is      *isTest      `parser:"| 'IS' @@"`
	Not     bool         `parser:"| @'NOT'?"`
	Like    *likeTest    `parser:"( 'LIKE' @@"`
	In      []*orExpr    `parser:"| 'IN' '(' @@ (',' @@)* ')'"`
	Between *betweenTest `parser:"| 'BETWEEN' @@ ) )"`
}

type comparison struct {
	Operator string   `parser:"@('=' | '<>' | '!=' | '<=' | '>=' | '<' | '>')"`
	Right    *sumExpr `parser:"@@"`
}

type isTest struct {
	Not  bool   `parser:"@'NOT'?"`
	What string `parser:"@('NULL' | 'TRUE' | 'FALSE' | 'UNKNOWN')"`
}

type likeTest struct {
	Pattern *sumExpr `parser:"@@"`
	Escape  *string  `parser:"('ESCAPE' @String)?"`
}

type betweenTest struct {
	Symmetric bool     `parser:"@'SYMMETRIC'?"`
	Low       *sumExpr `parser:"@@ 'AND'"`
	High      *sumExpr `parser:"@@"`
}

type sumExpr struct {
	Left *productExpr `parser:"@@"`
	Rest []*sumTail   `parser:"@@*"`
}

type sumTail struct {
	Pos      lexer.Position
	Operator string       `parser:"@('+' | '-')"`
	Right    *productExpr `parser:"@@"`
}

type productExpr struct {
	Left *signedExpr    `parser:"@@"`
	Rest []*productTail `parser:"@@*"`
}

type productTail struct {
	Pos      lexer.Position
	Operator string      `parser:"@('*' | '/' | '%' | '||')"`
	Right    *signedExpr `parser:"@@"`
}

type signedExpr struct {
	Pos   lexer.Position
	Signs []string   `parser:"@('+' | '-')*"`
	Of    *indexExpr `parser:"@@"`
}

type indexExpr struct {
	Of    *primary  `parser:"@@"`
	Index []*orExpr `parser:"('[' @@ ']')*"`
}

type primary struct {
	Pos     lexer.Position
	Case    *caseExpr  `parser:"@@"`
	Cast    *castExpr  `parser:"| @@"`
	Null    bool       `parser:"| @'NULL'"`
	Boolean string     `parser:"| @('TRUE' | 'FALSE')"`
	Number  string     `parser:"| @Number"`
	String  *string    `parser:"| @String"`
	Instant *instant   `parser:"| @@"`
	Call    *call      `parser:"| @@"`
	Column  *columnRef `parser:"| @@"`
	Inner   *orExpr    `parser:"| '(' @@ ')'"`
}

type caseExpr struct {
	Operand *orExpr    `parser:"'CASE' @@?"`
	Arms    []*caseArm `parser:"@@+"`
	Else    *orExpr    `parser:"('ELSE' @@)? 'END'"`
}

type caseArm struct {
	When *orExpr `parser:"'WHEN' @@"`
	Then *orExpr `parser:"'THEN' @@"`
}

type castExpr struct {
	Try  bool     `parser:"('CAST' | @'TRY_CAST') '('"`
	Of   *orExpr  `parser:"@@ 'AS'"`
	Type typeSpec `parser:"@@ ')'"`
}

type instant struct {
	Kind string `parser:"@('DATE' | 'TIME' | 'TIMESTAMP' | 'TIMESTAMP_LTZ')"`
	Text string `parser:"@String"`
}

// call has the forms f(a, b), TRIM(LEADING 'x' FROM s) and
// SUBSTRING(s FROM 1 FOR 2).
type call struct {
	Pos  lexer.Position
	Name string    `parser:"@Ident '('"`
	Star bool      `parser:"( @'*'"`
	Args *callArgs `parser:"| @@ )? ')'"`
}

type callArgs struct {
	Side string    `parser:"( @('BOTH' | 'LEADING' | 'TRAILING')"`
	Char *orExpr   `parser:"  @@?"`
	List []*orExpr `parser:"| @@ (',' @@)* )"`
	From *orExpr   `parser:"('FROM' @@"`
	For  *orExpr   `parser:" ('FOR' @@)? )?"`
}

type columnRef struct {
	Table *name `parser:"(@@ '.')?"`
	Name  name  `parser:"@@"`
}
