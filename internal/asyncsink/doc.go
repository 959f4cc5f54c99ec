// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

// Package asyncsink batches what callers write into requests, keeps a bounded
// number of them in flight, and sees each element through to one outcome:
// acknowledged by the destination, or failed with an error.
//
// A [Sink] is shared by all callers of a process. Each caller, a bundle for
// instance, has a [Writer] of its own:
//
//	w := sink.NewWriter(ctx)
//	err := w.Write(ctx, element)   // blocks while the buffer is full
//	err = w.Flush(ctx)             // until each element has its outcome
//	for _, o := range w.Take() {}  // the outcomes
//
// # The way of an element
//
// [Config.Convert] makes a request entry of it, which joins the end of its lane.
// Entries of one lane share requests, cut by [Config.Cut] within the limits of
// count and bytes, as soon as a batch is full, its oldest entry has waited for
// [Config.Linger], the buffer is full, or somebody flushes. A [Strategy] says
// how many entries may be in flight. A worker gives the batch to
// [Config.Submit], which enters a verdict for each entry. [Config.Classify] says
// what an error means: the entry failed, or goes again after a pause. So one
// entry of a batch may be repeated while the others are done.
//
// # Order
//
// In an ordered lane one request is in flight at a time, and what is repeated
// goes before what came later. Lanes know nothing of each other.
//
// # Promises
//
// Each element that Write took has exactly one outcome. Memory is bounded by
// [Config.MaxBuffered], [Config.MaxBufferedBytes] and what is in flight. The end
// of a writer's context ends its entries at once: those in flight are reported
// as failed, and a request that nobody waits for any more is cancelled. There is
// a goroutine for each request in flight at most, used again and again, and one
// that keeps the time; [Sink.Close] ends all of them and waits for them.
package asyncsink
