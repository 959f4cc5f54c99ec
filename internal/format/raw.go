// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// raw is the body as it is.
type raw struct {
	column  sqltype.Column
	charset charset // for a text column
}

func newRaw(c Config, columns sqltype.Schema) (Format, error) {
	column := columns[0]
	if len(columns) > 1 || !column.Type.Kind.IsBinary() && !column.Type.Kind.IsText() {
		return nil, fmt.Errorf("format raw: want one column of type VARBINARY, BYTES or STRING beside metadata, not %s", columns)
	}
	set, err := newCharset(c.Charset)
	return &raw{column: column, charset: set}, err
}

// Decode implements [Format].
func (r *raw) Decode(body []byte) Result {
	v, text, err := r.value(body)
	if err != nil {
		return Result{Faults: []*DecodeError{columnFault(Raw, 1, r.column, text, err)}}
	}
	return Result{Rows: [][]any{{v}}}
}

func (r *raw) value(body []byte) (v any, text string, err error) {
	if r.column.Type.Kind.IsBinary() {
		return body, "", sqltype.CheckBytes(r.column.Type, len(body))
	}
	text, err = r.charset.text(body)
	if err != nil {
		return nil, "", err
	}
	return text, text, sqltype.CheckText(r.column.Type, text)
}

// Encode implements [Format].
func (r *raw) Encode(row []any) ([]byte, error) {
	if err := checkRow(Raw, sqltype.Schema{r.column}, row); err != nil {
		return nil, err
	}
	switch v := row[0].(type) {
	case []byte:
		return v, nil
	case string:
		body, err := r.charset.bytes([]byte(v))
		if err != nil {
			return nil, encodeFault(Raw, r.column, err)
		}
		return body, nil
	case nil:
		return nil, encodeFault(Raw, r.column, fmt.Errorf("NULL has no bytes: use COALESCE"))
	default:
		return nil, encodeFault(Raw, r.column, fmt.Errorf("a %T is no value of the type", v))
	}
}
