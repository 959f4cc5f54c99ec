// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package throttlefn

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
)

// policies holds how each registered type is read back on a worker. Beam encodes
// a DoFn's fields as JSON, which cannot restore what an interface held.
var policies = struct {
	sync.RWMutex
	read map[string]func([]byte) (Policy, error)
}{read: make(map[string]func([]byte) (Policy, error))}

// RegisterPolicy makes a type of policy known, under the name of the type. Call
// it from an init function: the workers run the same binary and must know it
// too. Registering a type twice does nothing.
func RegisterPolicy[P Policy]() {
	policies.Lock()
	defer policies.Unlock()
	policies.read[policyName(reflect.TypeFor[P]())] = func(data []byte) (Policy, error) {
		var p P
		err := json.Unmarshal(data, &p)
		return p, err
	}
}

func policyName(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		return "*" + policyName(t.Elem())
	}
	return t.PkgPath() + "." + t.Name()
}

// encodedPolicy is a policy on its way through the graph.
type encodedPolicy struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json"`
}

// encodePolicy refuses policies that a worker could not read back.
func encodePolicy(p Policy) (encodedPolicy, error) {
	if p == nil {
		return encodedPolicy{}, fmt.Errorf("the policy is nil: want for instance throttlefn.Quota{PerWindow: 50, Defer: 20 * time.Second}")
	}
	t := reflect.TypeOf(p)
	name := policyName(t)
	policies.RLock()
	_, known := policies.read[name]
	policies.RUnlock()
	if !known {
		return encodedPolicy{}, fmt.Errorf("policy %v is not registered: call throttlefn.RegisterPolicy[%v]() in an init function", t, t)
	}
	if err := checkTravels(p, t); err != nil {
		return encodedPolicy{}, err
	}
	if c, ok := p.(interface{ Check() error }); ok {
		if err := c.Check(); err != nil {
			return encodedPolicy{}, fmt.Errorf("policy %v: %w", t, err)
		}
	}
	data, err := json.Marshal(p)
	if err != nil {
		return encodedPolicy{}, fmt.Errorf("policy %v: %w", t, err)
	}
	e := encodedPolicy{Name: name, JSON: data}
	if _, err := e.decode(); err != nil {
		return encodedPolicy{}, err
	}
	return e, nil
}

// checkTravels refuses unexported fields, which JSON would leave out without a
// word, unless the type says itself how it is written.
func checkTravels(p Policy, t reflect.Type) error {
	if _, ok := p.(json.Marshaler); ok {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		if !f.IsExported() && !f.Anonymous {
			return fmt.Errorf("policy %v: field %s is not exported and would be lost on the way to the workers: export it, or make it in Start", t, f.Name)
		}
	}
	return nil
}

// decode reads the policy back.
func (e encodedPolicy) decode() (Policy, error) {
	policies.RLock()
	read, ok := policies.read[e.Name]
	policies.RUnlock()
	if !ok {
		return nil, fmt.Errorf("policy %s is not registered in this binary: call throttlefn.RegisterPolicy in an init function", e.Name)
	}
	p, err := read(e.JSON)
	if err != nil {
		return nil, fmt.Errorf("policy %s: %w", e.Name, err)
	}
	return p, nil
}
