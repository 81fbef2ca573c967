"""`stretto bench`: collectives under uneven arrival. The driver that it starts lies in the folder bench/."""
