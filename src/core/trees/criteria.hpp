// What makes a split good: scalar mathematics of the sums over two groups of rows, without loops over rows.
//
// A criterion owns the targets of the rows it speaks of, and knows
//
//   width()                 how many numbers its sums have; the first is the number of rows
//   put(cell, row, node)    adds a row to sums
//   measure(rows, n, node, value)   weight, impurity, value and sums of a node
//   Scan(criterion, node)   the walk of rows, or of whole sums, from right to left: add, add_cell, beats, score, values
//   gain(node, score)       by how much a split of this score decreases weight times impurity
//
// A score orders the splits of one node; it is their gain but for constants of the node:
//
//   gini            sum_k l_k^2 / l + sum_k r_k^2 / r
//   entropy         sum_k l_k log l_k - l log l + the same of r            (log_loss is the same)
//   squared error   (sum of y - c)^2 / l + the same of r, c the mean of the node (Friedman's is a multiple of it)
//   Poisson         s log(s / l) + the same of r, s the sum of y
//
// with l and r the weights of the two sides, means over the outputs where there are several.
#pragma once
#include "core/trees/criteria/labels.hpp"
#include "core/trees/criteria/node.hpp"
#include "core/trees/criteria/squared.hpp"
#include "core/trees/criteria/sums.hpp"
