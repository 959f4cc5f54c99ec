// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package coders

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[AckableMessage](), EncodeAckableMessage, DecodeAckableMessage)
	beam.RegisterCoder(reflect.TypeFor[Message](), EncodeMessage, DecodeMessage)
	beam.RegisterCoder(reflect.TypeFor[ReceiptHandle](), EncodeReceiptHandle, DecodeReceiptHandle)
}
