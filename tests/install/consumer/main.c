/* The smallest program in C that uses an installed Tutti. */
#include <stdio.h>
#include <tutti/tutti.h>

int main(void) {
  printf("%s\n", tutti_version());
  return 0;
}
