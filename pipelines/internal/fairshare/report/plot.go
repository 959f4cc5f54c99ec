// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"time"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/rocketmq-beam/rocketmq-beam/pipelines/internal/fairshare/stats"
)

// Colours that people with colour-blindness can tell apart.
var (
	calmColour  = color.NRGBA{R: 0, G: 92, B: 175, A: 255}
	noisyColour = color.NRGBA{R: 213, G: 94, B: 0, A: 110}
)

// The size of the picture: one panel a leg.
const (
	panelWidth  = 13 * vg.Centimeter
	panelHeight = 10 * vg.Centimeter
)

// most points of one kind that are drawn; more do not show more.
const mostPoints = 1500

// Plot writes an SVG: for each leg one panel, in which every message stands at
// the time when it was published and at the height of its latency. The panels
// share their axes.
func Plot(path string, legs []Leg) error {
	canvas := vgsvg.New(panelWidth*vg.Length(max(1, len(legs))), panelHeight)
	paintBackground(canvas)
	tiles := draw.Tiles{Rows: 1, Cols: max(1, len(legs)), PadX: vg.Centimeter / 2,
		PadTop: 3 * vg.Millimeter, PadBottom: 3 * vg.Millimeter, PadLeft: 3 * vg.Millimeter, PadRight: 5 * vg.Millimeter}
	panels := make([]*plot.Plot, len(legs))
	axes := commonAxes(legs)
	for i, l := range legs {
		var err error
		if panels[i], err = panel(l, axes); err != nil {
			return fmt.Errorf("plot: %w", err)
		}
	}
	if len(panels) > 0 {
		for i, c := range plot.Align([][]*plot.Plot{panels}, tiles, draw.New(canvas))[0] {
			panels[i].Draw(c)
		}
	}
	return writeFile(path, canvas)
}

// paintBackground makes it white, also where the viewer's is dark.
func paintBackground(canvas *vgsvg.Canvas) {
	w, h := canvas.Size()
	canvas.SetColor(color.White)
	canvas.Fill(vg.Rectangle{Max: vg.Point{X: w, Y: h}}.Path())
}

func writeFile(path string, canvas *vgsvg.Canvas) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	if _, err := canvas.WriteTo(f); err != nil {
		f.Close()
		return fmt.Errorf("plot: writing %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("plot: writing %s: %w", path, err)
	}
	return nil
}

// axes are the ranges that all panels share: seconds, and latency in seconds on
// a logarithmic scale.
type axes struct{ maxX, minY, maxY float64 }

// roomForLegend is what the logarithmic axis has above the highest point.
const roomForLegend = 4

func commonAxes(legs []Leg) axes {
	a := axes{maxX: 1, minY: 1, maxY: 1}
	for _, l := range legs {
		for _, p := range l.Points {
			a.maxX = max(a.maxX, p.At.Seconds())
			a.minY = min(a.minY, seconds(p.Latency))
			a.maxY = max(a.maxY, seconds(p.Latency))
		}
	}
	a.minY = math.Pow(10, math.Floor(math.Log10(a.minY)))
	a.maxX *= 1.02 // so that the last dots do not stand on the edge
	a.maxY *= roomForLegend
	return a
}

// seconds is never zero, which a logarithm does not know.
func seconds(d time.Duration) float64 { return max(d.Seconds(), 0.001) }

var titles = map[string]string{
	NameNone: "without a policy",
	NameFair: "with a quota per tenant and window",
}

func panel(l Leg, a axes) (*plot.Plot, error) {
	p := plot.New()
	style(p)
	p.Title.Text = l.Name + ": " + titles[l.Name]
	p.X.Label.Text = "published, seconds from the start of the load"
	p.Y.Label.Text = "from publish to ack, seconds"
	p.X.Min, p.X.Max = 0, a.maxX
	p.X.Tick.Marker = plot.TickerFunc(secondTicks)
	p.Y.Min, p.Y.Max = a.minY, a.maxY
	p.Y.Scale = plot.LogScale{}
	p.Y.Tick.Marker = plot.TickerFunc(latencyTicks)
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.Padding = vg.Millimeter
	p.Add(plotter.NewGrid())
	if err := addDots(p, "noisy tenant", sample(l.Points, true), noisyColour, vg.Points(1.2)); err != nil {
		return nil, err
	}
	if err := addDots(p, "calm tenants", sample(l.Points, false), calmColour, vg.Points(1.6)); err != nil {
		return nil, err
	}
	return p, addLevel(p, l.Summary.CalmP99, a)
}

// style sets the fonts.
func style(p *plot.Plot) {
	for _, f := range []*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font,
		&p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font,
	} {
		f.Variant = "Sans"
	}
	p.Title.TextStyle.Font.Size = vg.Points(12)
	p.Title.TextStyle.Font.Weight = stdfont.WeightBold
	p.Title.Padding = 2 * vg.Millimeter
	p.Legend.TextStyle.Font.Size = vg.Points(10)
}

func addDots(p *plot.Plot, name string, xys plotter.XYs, c color.Color, radius vg.Length) error {
	if len(xys) == 0 {
		return nil
	}
	dots, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: c, Radius: radius, Shape: draw.CircleGlyph{}}
	p.Add(dots)
	p.Legend.Add(name, dots)
	return nil
}

// addLevel draws the calm tenants' p99 across the panel.
func addLevel(p *plot.Plot, ms *float64, a axes) error {
	if ms == nil {
		return nil
	}
	y := max(*ms/1000, a.minY)
	line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: y}, {X: a.maxX, Y: y}})
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: calmColour, Width: vg.Points(1), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
	p.Add(line)
	p.Legend.Add(fmt.Sprintf("calm tenants, p99: %.1f s", *ms/1000), line)
	return nil
}

// sample is every n-th point of one kind.
func sample(points []stats.Point, noisy bool) plotter.XYs {
	var all plotter.XYs
	for _, p := range points {
		if p.Noisy == noisy {
			all = append(all, plotter.XY{X: p.At.Seconds(), Y: seconds(p.Latency)})
		}
	}
	step := max(1, (len(all)+mostPoints-1)/mostPoints)
	var out plotter.XYs
	for i := 0; i < len(all); i += step {
		out = append(out, all[i])
	}
	return out
}

// secondTicks puts about ten marks at whole seconds.
func secondTicks(low, high float64) []plot.Tick {
	step := max(1, math.Ceil((high-low)/10))
	var ticks []plot.Tick
	for v := math.Ceil(low); v <= high; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
	}
	return ticks
}

// latencyTicks puts a mark at 1, 2 and 5 of each power of ten.
func latencyTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= low*0.999 && v <= high*1.001 {
				ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", math.Round(v*1000)/1000)})
			}
		}
	}
	return ticks
}
