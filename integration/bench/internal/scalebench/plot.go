// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package scalebench

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Colours that people with colour-blindness can tell apart.
var (
	rawColour      = color.NRGBA{R: 213, G: 94, B: 0, A: 255}
	pipelineColour = color.NRGBA{R: 0, G: 92, B: 175, A: 255}
)

const (
	plotWidth  = 16 * vg.Centimeter
	plotHeight = 9 * vg.Centimeter
)

func plotName(d Dimension) string { return "scale-" + d.Name + ".svg" }

// Plot writes an SVG of each curve into a folder.
func (r *Result) Plot(folder string) error {
	for _, c := range r.Curves {
		if len(c.Points) == 0 {
			continue
		}
		if err := c.plot(filepath.Join(folder, plotName(c.Dimension))); err != nil {
			return fmt.Errorf("plot of %s: %w", c.Dimension.Name, err)
		}
	}
	return nil
}

func (c *Curve) plot(file string) error {
	p := plot.New()
	style(p)
	p.Title.Text = c.Dimension.Title
	p.X.Label.Text, p.Y.Label.Text = c.Dimension.Axis, "messages per second" // longer than the axis it would shrink the plot
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = plot.ConstantTicks(c.valueTicks())
	p.Add(plotter.NewGrid())
	for _, side := range []struct {
		name   string
		colour color.Color
		shape  draw.GlyphDrawer
		values func(Measured) (middle, low, high float64)
	}{
		{"raw loop", rawColour, draw.SquareGlyph{}, func(m Measured) (float64, float64, float64) { return m.RawPerS, m.MinRawPerS, m.MaxRawPerS }},
		{"pipeline", pipelineColour, draw.CircleGlyph{}, func(m Measured) (float64, float64, float64) {
			return m.PipelinePerS, m.MinPipelinePerS, m.MaxPipelinePerS
		}},
	} {
		if err := addSide(p, side.name, side.colour, side.shape, c.Points, side.values); err != nil {
			return err
		}
	}
	c.scale(p)
	return writeSVG(file, p)
}

// addSide draws the medians and, as bars, the slowest and the fastest run.
func addSide(p *plot.Plot, name string, colour color.Color, shape draw.GlyphDrawer, points []Measured, values func(Measured) (middle, low, high float64)) error {
	var curve bars
	for _, m := range points {
		middle, low, high := values(m)
		curve.XYs = append(curve.XYs, plotter.XY{X: float64(m.Value), Y: middle})
		curve.YErrors = append(curve.YErrors, struct{ Low, High float64 }{middle - low, high - middle})
	}
	line, dots, err := plotter.NewLinePoints(curve.XYs)
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: colour, Width: vg.Points(1.5)}
	dots.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: vg.Points(3), Shape: shape}
	whiskers, err := plotter.NewYErrorBars(curve)
	if err != nil {
		return err
	}
	whiskers.LineStyle = draw.LineStyle{Color: colour, Width: vg.Points(0.75)}
	p.Add(line, dots, whiskers)
	p.Legend.Add(name, line, dots)
	return nil
}

// bars are points with their bounds.
type bars struct {
	plotter.XYs
	plotter.YErrors
}

// wide is from which ratio of highest to lowest on a curve needs a logarithmic
// axis.
const wide = 12

// scale sets the height: from 0, or logarithmic.
func (c *Curve) scale(p *plot.Plot) {
	low, high := math.Inf(1), 0.0
	for _, m := range c.Points {
		low = min(low, m.MinRawPerS, m.MinPipelinePerS)
		high = max(high, m.MaxRawPerS, m.MaxPipelinePerS)
	}
	if low > 0 && high/low >= wide {
		p.Y.Min, p.Y.Max = low/1.3, high*2 // with room for the legend
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(speedTicks)
		return
	}
	p.Y.Min, p.Y.Max = 0, max(high*1.3, 1)
}

// speedTicks puts a mark at 1, 2 and 5 of each power of ten.
func speedTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= low && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
			}
		}
	}
	return ticks
}

// valueTicks puts a mark at each point.
func (c *Curve) valueTicks() []plot.Tick {
	var ticks []plot.Tick
	for _, m := range c.Points {
		ticks = append(ticks, plot.Tick{Value: float64(m.Value), Label: c.Dimension.label(m.Value)})
	}
	return ticks
}

func style(p *plot.Plot) {
	for _, f := range []*font.Font{
		&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font,
		&p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font,
	} {
		f.Variant = "Sans"
	}
	p.Title.Padding = 2 * vg.Millimeter
	p.Legend.Top, p.Legend.Left, p.Legend.Padding = true, true, vg.Millimeter
}

func writeSVG(file string, p *plot.Plot) error {
	canvas := vgsvg.New(plotWidth, plotHeight)
	w, h := canvas.Size()
	canvas.SetColor(color.White) // also where the viewer's background is dark
	canvas.Fill(vg.Rectangle{Max: vg.Point{X: w, Y: h}}.Path())
	edge := 3 * vg.Millimeter
	p.Draw(draw.Crop(draw.New(canvas), edge, -2*edge, edge, -edge))
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := canvas.WriteTo(f); err != nil {
		f.Close()
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return f.Close()
}
