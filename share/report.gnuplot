# The figures of hrun-calibrate report as images. Before this stand the data: N, PDF (0: PNG, one figure behind the
# other), and the blocks that calib/report/report_image.c names. The title of each figure is printed.
set encoding utf8
set datafile missing NaN
set border 3 lc rgb '#898781'
set grid lt 1 lw 1 lc rgb '#e1e0d9'
set tics nomirror scale 0.5
set key noenhanced outside bottom center horizontal Left reverse samplen 1.5
set bars 0
array HUE[8] = ['#2a78d6', '#eb6834', '#1baf7a', '#4a3aa7', '#eda100', '#e34948', '#008300', '#e87ba4']
hue(i) = HUE[int(i) % 8 + 1]
set palette defined (0 '#86b6ef', 1 '#0a2a55')
if (!PDF) {
    set terminal pngcairo size 840,640 font 'sans,14' linewidth 1.5 noenhanced
} else {
    set terminal pdfcairo size 8in,5.5in font 'sans,12' noenhanced
    LINES = 58; COLUMNS = 130
    do for [k = 1:|$TEXT|:LINES] {
        page = ''
        do for [i = k:k + LINES - 1] { if (i <= |$TEXT|) { page = page.$TEXT[i][2:COLUMNS + 1]."\n" } }
        set label 1 page at screen 0.02, screen 0.97 left noenhanced font 'monospace,7'
        unset border; unset tics; unset key
        plot [0:1] [0:1] 2 notitle
    }
    unset label 1
    set border; set tics nomirror scale 0.5
    set key noenhanced outside bottom center horizontal Left reverse samplen 1.5
}
name(i) = i < SUBS ? word($SUBS[i + 1], 1) : 'several'
# Is a run on sub-cluster i, the last standing for several? `on` is not known of these.
is_on(on, i) = i < SUBS ? on == i : on != on
SECONDS = "set logscale %s; set format %s '%%.3g s'"
PERCENT = "unset logscale %s; set format %s '%%+.2g %%%%'"
PLAIN = "set logscale %s; set format %s '%%g'"
NEW = "print 'figure '.t; set title t"
POWERS = "set logscale x 2; set xtics 1, 8; set format x '%.0b %BB'"
TENS = 'unset logscale x; set xtics autofreq'
axes(x, y) = sprintf(x, 'x', 'x').'; '.sprintf(y, 'y', 'y')

t = sprintf('Configurations at N = %.0f', N)
if (PLAN > 0) {
    eval NEW; set xlabel 'processes P' offset 0,0.5; set ylabel 'time'; eval axes(PLAIN, SECONDS)
    plot $PLAN using 1:2 with points pt 6 ps 0.6 lc rgb '#898781' title 'configurations', \
         $MEASURED using 1:2 with points pt 5 lc rgb HUE[3] title 'measured', \
         $CHOSEN using 1:2:3:4 with yerrorbars pt 13 ps 2 lw 2 lc rgb HUE[6] title 'chosen'
}
t = sprintf('Time against cost at N = %.0f', N)
if (COST_FRONT > 0) {
    eval NEW; set xlabel 'cost of a run' offset 0,0.5; set ylabel 'time'; eval axes(PLAIN, SECONDS)
    plot $COST using 1:2 with points pt 6 ps 0.6 lc rgb '#898781' title 'configurations', \
         $MEASURED using 3:2 with points pt 5 lc rgb HUE[3] title 'measured', \
         $COST_FRONT using 1:2 with linespoints pt 7 lc rgb HUE[1] title 'best in both'
}
t = sprintf('Time against energy at N = %.0f', N)
if (ENERGY_FRONT > 0) {
    eval NEW; set xlabel 'energy of a run, J' offset 0,0.5; set ylabel 'time'; eval axes(PLAIN, SECONDS)
    plot $ENERGY using 1:2 with points pt 6 ps 0.6 lc rgb '#898781' title 'configurations', \
         $MEASURED using 4:2 with points pt 5 lc rgb HUE[3] title 'measured', \
         $ENERGY_FRONT using 1:2 with linespoints pt 7 lc rgb HUE[1] title 'best in both'
}
t = 'Shares of the work'
if (SHARES - 1 > 0) {
    eval NEW; set xlabel 'size N' offset 0,0.5; set ylabel 'time'; eval axes(PLAIN, SECONDS)
    plot $SHARES using 1:2 with linespoints lc rgb HUE[1] title 'equal', \
         '' using 1:3 with linespoints lc rgb HUE[2] title 'in proportion to speed', \
         '' using 1:4 with linespoints lc rgb HUE[3] title 'best'
}
# Columns of $RUNS: 1 N, 2 P, 3 time, 4 launch, 5 fitted, 6 low, 7 high, 8 on, 9 processes per PE, 10 counts
FITTED = RUNS ? sum [i = 1:RUNS] (word($RUNS[i], 5) ne 'NaN') : 0
t = 'Measured against fitted'
if (FITTED > 0) {
    eval NEW; set xlabel 'measured time' offset 0,0.5; set ylabel 'fitted time'; eval axes(SECONDS, SECONDS)
    plot for [i = 0:SUBS] $RUNS using (is_on($8, i) ? $3 : NaN):5:(abs($6)):7 with yerrorbars pt 7 ps 0.6 \
         lc rgb hue(i) title name(i), $RUNS using 3:3 with lines lc rgb '#898781' notitle
}
do for [c = 1:2] {
    t = 'Residuals over '.(c == 1 ? 'N' : 'P')
    if (FITTED > 0) {
        eval NEW; set xlabel (c == 1 ? 'size N' : 'processes P') offset 0,0.5
        set ylabel 'fitted against measured'
        eval axes(PLAIN, PERCENT)
        plot for [i = 0:SUBS] $RUNS using (is_on($8, i) ? column(c) : NaN):(100 * ($5 / $3 - 1)) with points pt 7 \
             ps 0.6 lc rgb hue(i) title name(i), 0 lc rgb '#898781' notitle
    }
}
# The distinct words of a column of $RUNS, in their order.
PROCS_PER_PE = ''; SIZES = ''; PROCESSES = ''
add(list, v) = strstrt(' '.list, ' '.v.' ') ? list : list.v.' '
do for [k = 1:RUNS] {
    SIZES = add(SIZES, word($RUNS[k], 1))
    PROCESSES = add(PROCESSES, word($RUNS[k], 2))
    PROCS_PER_PE = add(PROCS_PER_PE, word($RUNS[k], 9))
}
# Good runs on sub-cluster i alone with m processes on each PE: points, and a line for each P, or N
is_of(on, m, counts) = on == i && m == real(procs) && counts == 1
number(line, i) = real(word(line, i))
do for [c = 1:2] { do for [i = 0:SUBS - 1] { do for [procs in PROCS_PER_PE] {
    t = sprintf('Time over %s: %s, %s per PE', c == 1 ? 'N' : 'P', name(i), procs)
    if (sum [k = 1:RUNS] is_of(number($RUNS[k], 8), number($RUNS[k], 9), number($RUNS[k], 10))) {
        eval NEW; set xlabel (c == 1 ? 'size N' : 'processes P') offset 0,0.5; set ylabel 'time'
        set cblabel (c == 1 ? 'P' : 'N'); eval axes(PLAIN, SECONDS)
        x(on, m, counts) = is_of(on, m, counts) ? column(c) : NaN
        plot for [v in (c == 1 ? PROCESSES : SIZES)] \
             $RUNS using (column(3 - c) == real(v) ? x($8, $9, $10) : NaN):5:(real(v)) with lines palette notitle, \
             '' using (x($8, $9, $10)):3:(column(3 - c)) with points pt 7 palette notitle
        unset cblabel
    }
} } }
t = 'Messages between hosts'
if (TRIPS > 0) {
    eval NEW; set xlabel 'message' offset 0,0.5; set ylabel 'round trip'; eval axes(PLAIN, SECONDS)
    eval POWERS
    trip_name(i) = word($TRIPS[i + 1], 1).' - '.word($TRIPS[i + 1], 2)
    s = 'plot 1/0 notitle'
    do for [i = 0:TRIPS - 1] {
        s = s.sprintf(', $TRIP_%d with points pt 7 ps 0.6 lc rgb hue(%d) notitle, $TRIP_MODEL_%d with lines lc rgb \
                      hue(%d) title trip_name(%d)', i, i, i, i, i)
    }
    eval s
    eval TENS
}
t = 'Scatter and gather'
if (SCATTER + GATHER > 0) {
    eval NEW; set xlabel 'message of each rank' offset 0,0.5; set ylabel 'median time'
    eval axes(PLAIN, SECONDS)
    eval POWERS
    plot $SCATTER using 1:2:2:3 with yerrorbars pt 7 ps 0.6 lc rgb HUE[1] title 'scatter', \
         $SCATTER_MODEL with lines lc rgb HUE[1] notitle, \
         $GATHER using 1:2:2:3 with yerrorbars pt 7 ps 0.6 lc rgb HUE[2] title 'gather', \
         $GATHER_MODEL with lines lc rgb HUE[2] notitle
    eval TENS
}
t = 'Runs that were made'
if (RUNS > 0) {
    eval NEW; set xlabel 'size N' offset 0,0.5; set ylabel 'processes P'; eval axes(PLAIN, PLAIN)
    plot for [i = 0:SUBS] $RUNS using (is_on($8, i) ? $1 * 1.03 ** (i - SUBS / 2.0) : NaN):2 with points pt 7 ps 0.6 \
         lc rgb hue(i) title name(i)
}
t = 'What the runs cost'
if (RUNS > 0) {
    eval NEW; set xlabel 'size N' offset 0,0.5; set ylabel 'time of the launch'; eval axes(PLAIN, SECONDS)
    plot for [i = 0:SUBS] $RUNS using (is_on($8, i) ? $1 : NaN):4 with points pt 7 ps 0.6 lc rgb hue(i) title name(i)
}
