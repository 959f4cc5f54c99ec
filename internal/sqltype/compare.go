// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package sqltype

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Compare orders two values of one kind, neither of them NULL: less than 0 if a
// comes first, 0 if they are equal. Text is ordered by its characters' numbers;
// not-a-number equals itself and comes before all other numbers. ARRAY and MAP
// have no order.
func Compare(k Kind, a, b any) int {
	switch {
	case k.IsInteger():
		return cmp.Compare(ToInt(a), ToInt(b))
	case k == Float || k == Double:
		return cmp.Compare(ToFloat(a), ToFloat(b))
	case k.IsText():
		return strings.Compare(a.(string), b.(string))
	case k.IsBinary():
		return bytes.Compare(a.([]byte), b.([]byte))
	case k == Time:
		return cmp.Compare(a.(time.Duration), b.(time.Duration))
	case k.IsTemporal():
		return a.(time.Time).Compare(b.(time.Time))
	case k == Decimal:
		return a.(decimal.Decimal).Cmp(b.(decimal.Decimal))
	case k == Boolean:
		return cmp.Compare(toBit(a), toBit(b))
	}
	panic("sqltype: values of type " + k.String() + " have no order")
}

func toBit(v any) int {
	if v == true {
		return 1
	}
	return 0
}
