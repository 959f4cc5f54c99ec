// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package litegrpcio

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/rocketmq-beam/rocketmq-beam/internal/placed"
)

func init() {
	beam.RegisterType(reflect.TypeFor[Message]())
	beam.RegisterCoder(reflect.TypeFor[WriteResult](), encodeWriteResult, decodeWriteResult)
}

// Message is a message to write to a lite topic.
type Message struct {
	// LiteTopic is the lite topic below the main topic; empty means the one of
	// [WriteLiteTopic].
	LiteTopic string
	Body      []byte
	// Keys are index keys, Tag is a tag, both may be empty.
	Keys       []string
	Tag        string
	Properties map[string]string
}

// WriteResult says where a message was stored.
type WriteResult struct {
	LiteTopic string
	// MessageID is the id under which consumers see the message, Offset its
	// position in the lite topic.
	MessageID string
	Offset    int64
	// Keys are those of the message, to tell the results apart.
	Keys []string
	// Attempts is how many requests it took.
	Attempts int
	// MaybeRepeated says that one of these got no answer, so that the message may
	// have been stored more than once, under the same id.
	MaybeRepeated bool

	place *placed.Place // where it goes in the stream, until it is emitted
}

func encodeWriteResult(r WriteResult) ([]byte, error) { return json.Marshal(r) }

func decodeWriteResult(data []byte) (WriteResult, error) {
	var r WriteResult
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("litegrpcio: WriteResult: %w", err)
	}
	return r, nil
}
