/* SPDX-License-Identifier: MIT */
/* The page's style sheet and script, made of page.css and page.js when it is built. */
#ifndef EZPROF_PAGE_TEXT_H
#define EZPROF_PAGE_TEXT_H

extern const char ezprof_page_css[];
extern const char ezprof_page_js[];

#endif
