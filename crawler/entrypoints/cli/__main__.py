from crawler.entrypoints.cli.start import main

main()
