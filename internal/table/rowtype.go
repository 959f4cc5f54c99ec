// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/rocketmq-beam/rocketmq-beam/internal/sqltype"
)

// fieldName is what a column must be called to be the field of a Beam row: Beam
// makes the name of an exported field of it.
var fieldName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// RowType is the type of Beam rows with these columns: a struct, as Beam makes it
// of a schema with their names.
func RowType(columns sqltype.Schema) (reflect.Type, error) {
	var fields []reflect.StructField
	var faults []error
	byName := map[string]string{}
	for _, c := range columns {
		f, err := fieldOf(c.Type)
		if err == nil && !fieldName.MatchString(c.Name) {
			err = errors.New("the names of fields of Beam rows have ASCII letters, digits and _ only, and begin with a letter")
		}
		name := exported(c.Name)
		if other, ok := byName[name]; ok && err == nil {
			err = fmt.Errorf("column %s differs in its first letter only, which Beam rows cannot tell", sqltype.Quote(other))
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("column %s: %w", sqltype.Quote(c.Name), err))
			continue
		}
		byName[name] = c.Name
		field := reflect.StructField{Name: name, Type: f.is}
		if name != c.Name {
			field.Tag = reflect.StructTag(fmt.Sprintf("beam:%q", c.Name))
		}
		fields = append(fields, field)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return reflect.StructOf(fields), nil
}

func exported(name string) string {
	if name == "" {
		return name
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// Binding makes Beam rows of one type of rows, and back. It is safe for use by
// several goroutines.
type Binding struct {
	row    reflect.Type
	fields []boundField // by column
}

type boundField struct {
	at int // the field's position in the struct
	field
}

// Bind matches the fields of a struct with columns, by the name in the tag "beam"
// or the field's own, whose first letter may be small in the column. Each must
// have its counterpart. The error joins all faults.
func Bind(row reflect.Type, columns sqltype.Schema) (*Binding, error) {
	if row == nil || row.Kind() != reflect.Struct {
		return nil, fmt.Errorf("rows of type %v: want a struct", row)
	}
	at := map[string]int{}
	for i := range row.NumField() {
		f := row.Field(i)
		if !f.IsExported() || f.Anonymous {
			return nil, fmt.Errorf("rows of type %v: field %s is embedded or not exported, and Beam's schemas need fields that are", row, f.Name)
		}
		name, _, _ := strings.Cut(f.Tag.Get("beam"), ",")
		if name == "" {
			name = f.Name
		}
		at[name] = i
	}
	b := &Binding{row: row}
	var faults []error
	for _, c := range columns {
		i, ok := at[c.Name]
		name := c.Name
		if !ok {
			name = exported(c.Name)
			i, ok = at[name]
		}
		if !ok {
			faults = append(faults, fmt.Errorf("column %s has no field in %v: want one called %s, or one with the tag `beam:%q`", sqltype.Quote(c.Name), row, exported(c.Name), c.Name))
			continue
		}
		delete(at, name)
		f, err := fieldOf(c.Type)
		if err == nil && row.Field(i).Type != f.is {
			err = fmt.Errorf("field %s is of type %v: %s wants %v", row.Field(i).Name, row.Field(i).Type, c.Type, f.is)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("column %s: %w", sqltype.Quote(c.Name), err))
			continue
		}
		b.fields = append(b.fields, boundField{i, f})
	}
	for name := range at {
		faults = append(faults, fmt.Errorf("field %s of %v is none of the columns %s", name, row, strings.Join(columns.Names(), ", ")))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return b, nil
}

// Struct makes a Beam row of a row.
func (b *Binding) Struct(row []any) any {
	s := reflect.New(b.row).Elem()
	for i, f := range b.fields {
		f.set(s.Field(f.at), row[i])
	}
	return s.Interface()
}

// Row makes a row of a Beam row. The error is that a value does not fit its
// column.
func (b *Binding) Row(s any, columns sqltype.Schema) ([]any, error) {
	v := reflect.ValueOf(s)
	row := make([]any, len(b.fields))
	for i, f := range b.fields {
		value, err := f.get(v.Field(f.at))
		if err == nil && value != nil {
			err = sqltype.Fits(columns[i].Type, value)
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", sqltype.Quote(columns[i].Name), err)
		}
		row[i] = value
	}
	return row, nil
}
